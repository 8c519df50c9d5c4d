"""The Chat Completions API, and what is known of the hosts that speak it."""
