ollie_link(nlohmann_json::nlohmann_json)
