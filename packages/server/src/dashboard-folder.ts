import { join } from "node:path";

/** Where a built dashboard lies in this package. */
export const dashboardFolder = join(import.meta.dirname, "..", "dashboard");
