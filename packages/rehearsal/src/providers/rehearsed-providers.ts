/** The services that a rehearsal replaces, each below a path of the same name. */
export const rehearsedProviders = [
  "bedrock",
  "vertex",
  "foundry",
  "anthropic_aws",
  "mantle",
  "custom",
] as const;
export type RehearsedProvider = (typeof rehearsedProviders)[number];
