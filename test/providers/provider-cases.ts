import type { RehearsedProvider } from "@herdctl/rehearsal";

/** A provider with a configuration that works with a rehearsal. */
export interface ProviderCase {
  type: RehearsedProvider;
  yaml: string;
  /** Recorded with the job. */
  credential: string;
  /** Part of the model id that reaches the provider. */
  model: string;
}

export const providerCases: readonly ProviderCase[] = [
  {
    type: "bedrock",
    yaml: "{ type: bedrock, region: eu-central-1 }",
    credential: "AWS_ACCESS_KEY_ID",
    model: "eu.anthropic.claude-opus",
  },
  {
    type: "vertex",
    yaml: "{ type: vertex, project: my-project, region: europe-west1 }",
    credential: "HERDCTL_VERTEX_TOKEN",
    model: "claude-opus",
  },
  {
    type: "foundry",
    yaml: "{ type: foundry, resource: my-resource }",
    credential: "ANTHROPIC_FOUNDRY_API_KEY",
    model: "claude-sonnet",
  },
  {
    type: "anthropic_aws",
    yaml: "{ type: anthropic_aws, workspace_id: wrkspc_1, region: us-west-2 }",
    credential: "AWS_ACCESS_KEY_ID",
    model: "claude-opus",
  },
  {
    type: "mantle",
    yaml: "{ type: mantle, region: us-west-2 }",
    credential: "AWS_ACCESS_KEY_ID",
    model: "anthropic.claude-opus",
  },
  {
    type: "custom",
    yaml: "{ type: custom, base_url: https://llm.example.org, models: { opus: team-opus } }",
    credential: "ANTHROPIC_AUTH_TOKEN",
    model: "team-opus",
  },
];

/** Credentials of the machine that may not get anywhere: a rehearsal uses its own. */
export const canaries: Readonly<Record<string, string>> = {
  AWS_ACCESS_KEY_ID: "AKIACANARYCANARYCANA",
  AWS_SECRET_ACCESS_KEY: "canary-secret-access-key-0123456789",
  AWS_SESSION_TOKEN: "canary-session-token-0123456789",
  AWS_BEARER_TOKEN_BEDROCK: "canary-bedrock-bearer-0123456789",
  ANTHROPIC_FOUNDRY_API_KEY: "canary-foundry-key-0123456789",
  ANTHROPIC_AWS_API_KEY: "canary-aws-api-key-0123456789",
  ANTHROPIC_AUTH_TOKEN: "canary-auth-token-0123456789",
  ANTHROPIC_API_KEY: "canary-api-key-0123456789",
};
