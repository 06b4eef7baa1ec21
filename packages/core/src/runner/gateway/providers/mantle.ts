import { anthropicRoutes } from "./anthropic-routes.ts";
import type { ProviderProtocol } from "./contract.ts";

/** Bedrock's "mantle" endpoint: the Messages API with SigV4 or a Bedrock API key. */
export const mantle: ProviderProtocol = {
  routes: () => anthropicRoutes,
  clientVariables: (baseUrl, { region = "us-east-1" }) => ({
    CLAUDE_CODE_USE_MANTLE: "1",
    CLAUDE_CODE_SKIP_MANTLE_AUTH: "1",
    ANTHROPIC_BEDROCK_MANTLE_BASE_URL: baseUrl,
    AWS_REGION: region,
    AWS_EC2_METADATA_DISABLED: "true",
  }),
  probePath: () => "/v1/messages",
};
