"""What the end-to-end scenarios are made of."""
