import type { ProviderType } from "@herdctl/config";

export type ExternalProviderType = Exclude<ProviderType, "anthropic">;

/** What distinguishes the settings of one provider from those of the others. */
export interface ProviderSpec {
  /** For messages. */
  label: string;
  regionVariables: readonly string[];
  defaultRegion?: string;
  projectVariables: readonly string[];
  resourceVariables: readonly string[];
  workspaceVariables: readonly string[];
  baseUrlVariables: readonly string[];
  required: readonly ("project" | "workspace_id")[];
  /** The keys that determine the address, for a message. */
  addressKeys: readonly string[];
  /** The public endpoint; undefined if it is not known. */
  endpoint(parts: { region?: string; resource?: string }): string | undefined;
  /** Below `/<type>` of a rehearsal. */
  rehearsalPath?: string;
  /** The SigV4 service of providers that accept AWS credentials. */
  aws?: { service: string };
  /** Variables with a key or token, and how each is sent. */
  tokens: readonly { variable: string; scheme: "bearer" | "api_key" }[];
  /** How a token of `token_env` or `credential_command` is sent. */
  tokenScheme: "bearer" | "api_key";
}

const awsRegionVariables = ["AWS_REGION", "AWS_DEFAULT_REGION"];
const none: readonly string[] = [];
const nothing = {
  projectVariables: none,
  resourceVariables: none,
  workspaceVariables: none,
  required: [],
} as const;

/** The addresses are those of Claude Code 2.1.325. */
export const providerSpecs: Readonly<Record<ExternalProviderType, ProviderSpec>> = {
  bedrock: {
    ...nothing,
    label: "Amazon Bedrock",
    regionVariables: awsRegionVariables,
    defaultRegion: "us-east-1",
    baseUrlVariables: ["ANTHROPIC_BEDROCK_BASE_URL"],
    addressKeys: ["region", "base_url"],
    endpoint: ({ region }) => {
      const fips = region?.startsWith("us-gov-") ? "-fips" : "";
      return region && `https://bedrock-runtime${fips}.${region}.amazonaws.com`;
    },
    aws: { service: "bedrock" },
    tokens: [{ variable: "AWS_BEARER_TOKEN_BEDROCK", scheme: "bearer" }],
    tokenScheme: "bearer",
  },
  mantle: {
    ...nothing,
    label: "Amazon Bedrock (mantle)",
    regionVariables: awsRegionVariables,
    defaultRegion: "us-east-1",
    baseUrlVariables: ["ANTHROPIC_BEDROCK_MANTLE_BASE_URL"],
    addressKeys: ["region", "base_url"],
    endpoint: ({ region }) => region && `https://bedrock-mantle.${region}.api.aws/anthropic`,
    aws: { service: "bedrock-mantle" },
    tokens: [{ variable: "AWS_BEARER_TOKEN_BEDROCK", scheme: "bearer" }],
    tokenScheme: "bearer",
  },
  anthropic_aws: {
    ...nothing,
    label: "Claude on AWS",
    regionVariables: awsRegionVariables,
    defaultRegion: "us-east-1",
    workspaceVariables: ["ANTHROPIC_AWS_WORKSPACE_ID"],
    baseUrlVariables: ["ANTHROPIC_AWS_BASE_URL"],
    required: ["workspace_id"],
    addressKeys: ["region", "base_url"],
    endpoint: ({ region }) => region && `https://aws-external-anthropic.${region}.api.aws`,
    aws: { service: "aws-external-anthropic" },
    tokens: [{ variable: "ANTHROPIC_AWS_API_KEY", scheme: "api_key" }],
    tokenScheme: "api_key",
  },
  vertex: {
    ...nothing,
    label: "Vertex AI",
    regionVariables: ["CLOUD_ML_REGION"],
    defaultRegion: "us-east5",
    projectVariables: ["ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT"],
    baseUrlVariables: ["ANTHROPIC_VERTEX_BASE_URL"],
    required: ["project"],
    addressKeys: ["region", "base_url"],
    endpoint: ({ region = "" }) => `https://${vertexHost(region)}/v1`,
    rehearsalPath: "/v1",
    tokens: [{ variable: "HERDCTL_VERTEX_TOKEN", scheme: "bearer" }],
    tokenScheme: "bearer",
  },
  foundry: {
    ...nothing,
    label: "Microsoft Foundry",
    regionVariables: [],
    resourceVariables: ["ANTHROPIC_FOUNDRY_RESOURCE"],
    baseUrlVariables: ["ANTHROPIC_FOUNDRY_BASE_URL"],
    addressKeys: ["resource", "base_url"],
    endpoint: ({ resource }) => resource && `https://${resource}.services.ai.azure.com/anthropic`,
    tokens: [
      { variable: "ANTHROPIC_FOUNDRY_API_KEY", scheme: "api_key" },
      { variable: "ANTHROPIC_FOUNDRY_AUTH_TOKEN", scheme: "bearer" },
    ],
    tokenScheme: "api_key",
  },
  custom: {
    ...nothing,
    label: "the LLM gateway",
    regionVariables: [],
    baseUrlVariables: ["ANTHROPIC_BASE_URL"],
    addressKeys: ["base_url"],
    endpoint: () => undefined,
    tokens: [
      { variable: "ANTHROPIC_AUTH_TOKEN", scheme: "bearer" },
      { variable: "ANTHROPIC_API_KEY", scheme: "api_key" },
    ],
    tokenScheme: "bearer",
  },
};

function vertexHost(region: string): string {
  if (region === "global") return "aiplatform.googleapis.com";
  if (region === "us" || region === "eu") return `aiplatform.${region}.rep.googleapis.com`;
  return `${region}-aiplatform.googleapis.com`;
}
