import { z } from "zod";
import { checkedText, InvalidValue } from "./codec.ts";
import { hostPath, nonEmptyText, url, variableName } from "./strings.ts";
import { block, fleetOnly } from "./trust.ts";

/** The services that serve Claude models, by the name in `provider`. */
export const providerTypes = [
  "anthropic",
  "bedrock",
  "vertex",
  "foundry",
  "anthropic_aws",
  "mantle",
  "custom",
] as const;
export type ProviderType = (typeof providerTypes)[number];

/** The model aliases of Claude Code that a provider may map to its own model ids. */
export const modelAliases = ["opus", "sonnet", "haiku", "fable"] as const;

const providerField = <T extends z.ZodType>(schema: T) =>
  fleetOnly(schema, "it decides who receives the prompts and which account pays");

const providerType = z.enum(providerTypes);

/** Part of a host name or a path, so it may not contain a separator. */
const identifier = checkedText((text) =>
  /^[A-Za-z0-9][A-Za-z0-9._:-]*$/.test(text)
    ? undefined
    : new InvalidValue(
        `"${text}" contains characters that are not allowed here`,
        "Use letters, digits, `.`, `_`, `:` and `-`.",
      ),
);

const headerName = checkedText((text) =>
  /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(text)
    ? undefined
    : new InvalidValue(`"${text}" is not the name of a header`, "Write a name such as `X-Team`."),
);

const models = block({
  opus: providerField(nonEmptyText.optional().describe("Model id for `opus`.")),
  sonnet: providerField(nonEmptyText.optional().describe("Model id for `sonnet`.")),
  haiku: providerField(nonEmptyText.optional().describe("Model id for `haiku`.")),
  fable: providerField(nonEmptyText.optional().describe("Model id for `fable`.")),
});

const providerBlock = block({
  type: providerField(providerType.describe("Service that serves the models.")),
  region: providerField(
    identifier
      .optional()
      .describe(
        "AWS region, or location of Vertex AI. Default: `AWS_REGION`, or `CLOUD_ML_REGION`.",
      ),
  ),
  project: providerField(
    identifier.optional().describe("Google Cloud project. Default: `ANTHROPIC_VERTEX_PROJECT_ID`."),
  ),
  resource: providerField(
    identifier
      .optional()
      .describe("Microsoft Foundry resource. Default: `ANTHROPIC_FOUNDRY_RESOURCE`."),
  ),
  workspace_id: providerField(
    identifier
      .optional()
      .describe("Workspace of Claude on AWS. Default: `ANTHROPIC_AWS_WORKSPACE_ID`."),
  ),
  base_url: providerField(
    url("https", "http")
      .optional()
      .describe("URL of the service. Default: the public endpoint of the region or resource."),
  ),
  models: providerField(models.prefault({}).describe("Model ids for Claude Code's aliases.")),
  headers: providerField(
    z
      .record(headerName, z.string())
      .prefault({})
      .describe("Headers that the gateway adds to every request."),
  ),
  token_env: providerField(
    variableName
      .optional()
      .describe("Environment variable with the key or token, instead of the provider's own."),
  ),
  auth: providerField(
    z
      .enum(["bearer", "api_key"])
      .optional()
      .describe(
        "How a key or token is sent: `bearer` as `Authorization: Bearer`, `api_key` as `x-api-key`.",
      ),
  ),
  credential_command: providerField(
    nonEmptyText
      .optional()
      .describe(
        "Shell command on the host that prints a key or token, or for AWS the JSON of a `credential_process`.",
      ),
  ),
  profile: providerField(
    nonEmptyText.optional().describe("AWS profile. Default: `AWS_PROFILE`, or `default`."),
  ),
  key_file: providerField(
    hostPath
      .optional()
      .describe(
        "Google credentials file. Default: `GOOGLE_APPLICATION_CREDENTIALS`, or the file of `gcloud auth application-default login`.",
      ),
  ),
  instance_role: providerField(
    z
      .boolean()
      .prefault(false)
      .describe("Use the identity of the machine, from the metadata service of the cloud."),
  ),
});

const resolvedProvider = z.object({
  type: providerType,
  region: z.string().optional(),
  project: z.string().optional(),
  resource: z.string().optional(),
  workspace_id: z.string().optional(),
  base_url: z.string().optional(),
  models: z.partialRecord(z.enum(modelAliases), z.string()),
  headers: z.record(z.string(), z.string()),
  token_env: z.string().optional(),
  auth: z.enum(["bearer", "api_key"]).optional(),
  credential_command: z.string().optional(),
  profile: z.string().optional(),
  key_file: z.string().optional(),
  instance_role: z.boolean(),
});
export type ProviderConfig = z.output<typeof resolvedProvider>;

/** `provider: bedrock` is short for `provider: { type: bedrock }`. */
export const provider = z.codec(z.union([providerType, providerBlock]), resolvedProvider, {
  decode: (input) =>
    typeof input === "string"
      ? { type: input, models: {}, headers: {}, instance_role: false }
      : input,
  encode: (value) => value,
});

type ProviderKey = keyof ProviderConfig;

const awsKeys: readonly ProviderKey[] = ["region", "profile", "instance_role"];
const tokenKeys: readonly ProviderKey[] = ["token_env", "credential_command"];
const commonKeys: readonly ProviderKey[] = ["type", "base_url", "models", "headers"];

/** The keys that have a meaning for each type. */
export const providerKeys: Readonly<Record<ProviderType, readonly ProviderKey[]>> = {
  anthropic: ["type"],
  bedrock: [...commonKeys, ...awsKeys, ...tokenKeys],
  mantle: [...commonKeys, ...awsKeys, ...tokenKeys],
  anthropic_aws: [...commonKeys, ...awsKeys, ...tokenKeys, "workspace_id"],
  vertex: [...commonKeys, ...tokenKeys, "region", "project", "key_file", "instance_role"],
  foundry: [...commonKeys, ...tokenKeys, "resource", "auth"],
  custom: [...commonKeys, ...tokenKeys, "auth"],
};
