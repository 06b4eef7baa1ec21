export const config = {
  flags: "-c, --config <file>",
  summary: "fleet file, or the folder that holds it",
};
