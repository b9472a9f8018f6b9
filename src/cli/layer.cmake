ollie_link(CLI11::CLI11 nlohmann_json::nlohmann_json)
