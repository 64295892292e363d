"""How a run behaves: the state machine, the completion protocol, context and policy."""
