import type { ProviderProtocol } from "./contract.ts";

/** A model id or the encoded ARN of an inference profile. */
const model =
  "(?<model>(?:[a-z]{2,6}\\.)?anthropic\\.[A-Za-z0-9._-]+(?:(?::|%3A)[0-9]+)?|arn%3Aaws[A-Za-z0-9%._-]*)";
const callPath = new RegExp(`^/model/${model}/invoke(?<stream>-with-response-stream)?$`);

/** Amazon Bedrock: the model is in the path, and streams are binary. */
export const bedrock: ProviderProtocol = {
  routes: () => [
    { method: "POST", path: /* defence: bedrock-routes */ callPath, use: "message" },
    { method: "POST", path: new RegExp(`^/model/${model}/count-tokens$`), use: "free" },
  ],
  readPath: (path) => {
    const groups = callPath.exec(path)?.groups;
    return {
      model: groups?.model && decodeURIComponent(groups.model),
      isStream: groups?.stream !== undefined,
    };
  },
  clientVariables: (baseUrl, { region = "us-east-1" }) => ({
    CLAUDE_CODE_USE_BEDROCK: "1",
    CLAUDE_CODE_SKIP_BEDROCK_AUTH: "1",
    ANTHROPIC_BEDROCK_BASE_URL: baseUrl,
    AWS_REGION: region,
    AWS_EC2_METADATA_DISABLED: "true",
  }),
  probePath: ({ models }) =>
    `/model/${encodeURIComponent(models.haiku ?? models.sonnet ?? models.opus ?? "anthropic.claude-haiku-4-5-20251001-v1:0")}/invoke`,
};
