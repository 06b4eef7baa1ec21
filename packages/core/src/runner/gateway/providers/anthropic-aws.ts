import { anthropicRoutes } from "./anthropic-routes.ts";
import type { ProviderProtocol } from "./contract.ts";

/** Claude on AWS: the Messages API with SigV4 or a key, for one workspace. */
export const anthropicAws: ProviderProtocol = {
  routes: () => anthropicRoutes,
  headers: ({ workspaceId }) => ({
    ...(workspaceId && { "anthropic-workspace-id": workspaceId }),
  }),
  clientVariables: (baseUrl, { region = "us-east-1", workspaceId = "" }) => ({
    CLAUDE_CODE_USE_ANTHROPIC_AWS: "1",
    CLAUDE_CODE_SKIP_ANTHROPIC_AWS_AUTH: "1",
    ANTHROPIC_AWS_BASE_URL: baseUrl,
    ANTHROPIC_AWS_WORKSPACE_ID: workspaceId,
    AWS_REGION: region,
    AWS_EC2_METADATA_DISABLED: "true",
  }),
  probePath: () => "/v1/messages",
};
