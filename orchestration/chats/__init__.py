"""Direct chats: conversations with one agent outside of any workflow."""
