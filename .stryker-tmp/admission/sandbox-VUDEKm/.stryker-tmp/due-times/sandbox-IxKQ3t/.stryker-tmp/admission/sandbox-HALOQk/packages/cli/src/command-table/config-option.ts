export const configOption = {
  flags: "-c, --config <file>",
  summary: "Fleet file, or the folder that contains it",
};
