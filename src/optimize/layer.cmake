# The tuning database.
ollie_link(SQLite::SQLite3 nlohmann_json::nlohmann_json)
