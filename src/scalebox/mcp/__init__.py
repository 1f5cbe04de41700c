"""A server of the Model Context Protocol: running and verifying programs as tools of a model or an agent."""
