"""The sidebar's list of everything a person keeps."""
