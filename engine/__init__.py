"""The pure heart of OpenFlow: what a workflow is and how a run of it behaves.

Nothing in here reads a clock, a file or a socket; whatever comes from outside is handed in.
"""
