/** The package manager of this checkout; npx fetches it, nothing is installed first. */
export const pnpm = ["npx", "-y", "pnpm@12.18.0"];
