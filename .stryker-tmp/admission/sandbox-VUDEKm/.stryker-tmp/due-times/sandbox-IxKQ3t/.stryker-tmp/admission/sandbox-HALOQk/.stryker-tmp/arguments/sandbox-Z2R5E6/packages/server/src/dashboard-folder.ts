import { join } from "node:path";

/** The folder of the built dashboard in this package. */
export const dashboardFolder = join(import.meta.dirname, "..", "dashboard");
