import packageJson from "../../package.json" with { type: "json" };

/** The version of this package. The build replaces the import with its value. */
export const { version } = packageJson;
