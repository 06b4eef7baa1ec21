import type { ResolvedProvider } from "../../../claude/provider/resolve-provider.ts";
import type { ExternalProviderType } from "../../../claude/provider/specs.ts";
import { anthropicAws } from "./anthropic-aws.ts";
import { bedrock } from "./bedrock.ts";
import type { ProviderProtocol } from "./contract.ts";
import { custom } from "./custom.ts";
import { foundry } from "./foundry.ts";
import { mantle } from "./mantle.ts";
import { vertex } from "./vertex.ts";

const protocols: Readonly<Record<ExternalProviderType, ProviderProtocol>> = {
  bedrock,
  vertex,
  foundry,
  anthropic_aws: anthropicAws,
  mantle,
  custom,
};

export function protocolOf({ type }: Pick<ResolvedProvider, "type">): ProviderProtocol {
  return protocols[type];
}

/** Claude Code's variables for the model aliases of a provider. */
export function modelVariables({ models }: Pick<ResolvedProvider, "models">) {
  const entries = Object.entries(models).flatMap(([alias, id]) =>
    id === undefined ? [] : [[`ANTHROPIC_DEFAULT_${alias.toUpperCase()}_MODEL`, id] as const],
  );
  return Object.fromEntries(entries);
}
