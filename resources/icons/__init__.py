"""The program's own icons: one-colour drawings on a grid of 16, tinted by the theme."""
