"""Direct chats in the window."""
