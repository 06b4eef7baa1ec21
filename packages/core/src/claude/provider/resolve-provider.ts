import type { Environment, ProviderConfig } from "@herdctl/config";
import { awsCredential, type ProviderCredential, tokenCredential } from "./credential-sources.ts";
import { type ExternalProviderType, providerSpecs } from "./specs.ts";

/** Where the calls of a run go, if not to the Anthropic API, and what authenticates them. */
export interface ResolvedProvider {
  type: ExternalProviderType;
  baseUrl: string;
  region?: string;
  project?: string;
  workspaceId?: string;
  models: ProviderConfig["models"];
  /** Added by the gateway. */
  headers: Readonly<Record<string, string>>;
  credential: ProviderCredential;
}

export type ProviderChoice =
  | { kind: "provider"; provider: ResolvedProvider }
  | { kind: "none"; message: string; hint: string };

/** The provider of an agent with these settings; undefined for the Anthropic API. */
export function resolveProvider(
  config: ProviderConfig | undefined,
  environment: Environment,
): ProviderChoice | undefined {
  const settings = config ?? providerOfEnvironment(environment);
  if (settings === undefined || settings.type === "anthropic") return undefined;
  const { type } = settings;
  const spec = providerSpecs[type];
  const variables = { ...environment, ...rehearsalVariables(environment) };
  const rehearsalUrl = environment[rehearsalUrlVariable];
  const region = settings.region ?? firstOf(variables, spec.regionVariables) ?? spec.defaultRegion;
  const project = settings.project ?? firstOf(variables, spec.projectVariables);
  const resource = settings.resource ?? firstOf(variables, spec.resourceVariables);
  const workspaceId = settings.workspace_id ?? firstOf(variables, spec.workspaceVariables);
  const missing = spec.required.find(
    (key) => ({ project, workspace_id: workspaceId })[key] === undefined,
  );
  if (missing)
    return none(
      `\`provider: ${type}\` has no \`${missing}\``,
      `Set \`provider.${missing}\` in the configuration.`,
    );
  const baseUrl = rehearsalUrl
    ? `${rehearsalUrl}/${type}${spec.rehearsalPath ?? ""}`
    : (settings.base_url ??
      firstOf(variables, spec.baseUrlVariables) ??
      spec.endpoint({ region, resource }));
  if (baseUrl === undefined)
    return none(
      `\`provider: ${type}\` has no address`,
      `Set ${spec.addressKeys.map((key) => `\`provider.${key}\``).join(" or ")} in the configuration.`,
    );
  const credentialSettings = rehearsalUrl ? { ...settings, ...noOwnCredential } : settings;
  const credential = spec.aws
    ? awsCredential(spec, credentialSettings, variables, region)
    : tokenCredential(spec, credentialSettings, variables);
  if (credential.kind === "none") return credential;
  return {
    kind: "provider",
    provider: {
      ...{ type, baseUrl, region, project, workspaceId, credential },
      models: settings.models,
      headers: rehearsalUrl ? {} : settings.headers,
    },
  };
}

/** Set by `herdctl rehearse`: every provider is replaced by the rehearsal at this address. */
const rehearsalUrlVariable = "HERDCTL_REHEARSAL_URL";

/** A rehearsal never gets a real credential. */
const noOwnCredential = {
  token_env: undefined,
  credential_command: undefined,
  profile: undefined,
  key_file: undefined,
  auth: undefined,
  instance_role: false,
} as const;

const rehearsalCredentials: Readonly<Record<string, string | undefined>> = {
  AWS_ACCESS_KEY_ID: "REHEARSALKEYID",
  AWS_SECRET_ACCESS_KEY: "rehearsal-secret-access-key",
  AWS_SESSION_TOKEN: undefined,
  AWS_BEARER_TOKEN_BEDROCK: undefined,
  AWS_PROFILE: undefined,
  ANTHROPIC_AWS_API_KEY: undefined,
  ANTHROPIC_FOUNDRY_API_KEY: "rehearsal-key",
  ANTHROPIC_FOUNDRY_AUTH_TOKEN: undefined,
  ANTHROPIC_AUTH_TOKEN: "rehearsal-key",
  ANTHROPIC_API_KEY: "rehearsal-key",
  HERDCTL_VERTEX_TOKEN: "rehearsal-key",
};

function rehearsalVariables(environment: Environment): Environment {
  return environment[rehearsalUrlVariable] ? rehearsalCredentials : {};
}

const switches: readonly (readonly [variable: string, type: ExternalProviderType])[] = [
  ["CLAUDE_CODE_USE_BEDROCK", "bedrock"],
  ["CLAUDE_CODE_USE_VERTEX", "vertex"],
  ["CLAUDE_CODE_USE_FOUNDRY", "foundry"],
  ["CLAUDE_CODE_USE_ANTHROPIC_AWS", "anthropic_aws"],
  ["CLAUDE_CODE_USE_MANTLE", "mantle"],
];

/** Claude Code's own switches. Inside a Claude Code session, they describe that session. */
function providerOfEnvironment(environment: Environment): ProviderConfig | undefined {
  if (environment.CLAUDECODE !== undefined) return undefined;
  const found = switches.find(([name]) => /^(1|true|yes|on)$/i.test(environment[name] ?? ""));
  return found && { type: found[1], models: {}, headers: {}, instance_role: false };
}

function firstOf(environment: Environment, names: readonly string[]): string | undefined {
  return names.map((name) => environment[name]).find(Boolean);
}

function none(message: string, hint: string): ProviderChoice {
  return { kind: "none", message, hint };
}
