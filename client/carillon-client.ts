// What the package offers, on one screen.
export {}
