"""What a valid workflow is: the document model, its checks, its layers and its file form."""
