/** The package manager of this checkout, run by npx so that it needs no installation. */
export const pnpm = ["npx", "-y", "pnpm@12.18.0"];
