ollie_link(nlohmann_json::nlohmann_json)
target_compile_definitions(${OLLIE_LAYER_TARGET} PRIVATE OLLIE_VERSION="${PROJECT_VERSION}")
