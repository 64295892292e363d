"""How a person sees and steers OpenFlow: the window and the command line."""
