import type { IncomingHttpHeaders } from "node:http";
import { readApiKey } from "../request/identity.ts";
import type { RequestKind } from "../request-ledger.ts";
import type { PlannedResponse } from "../server/planned-response.ts";
import { type ErrorDialect, providerError, statusError } from "./provider-errors.ts";
import type { RehearsedProvider } from "./rehearsed-providers.ts";
import { verifySigV4 } from "./verify-sigv4.ts";

interface ReceivedCall {
  method: string;
  target: string;
  headers: IncomingHttpHeaders;
  text: string;
}

interface CallRoute {
  path: RegExp;
  kind: RequestKind;
  /** What the path says instead of the body. */
  read?: (path: string) => { model: string; stream?: boolean };
}

/** How a provider differs from the Anthropic API. */
export interface ProviderProtocol {
  dialect: ErrorDialect;
  /** Streams are binary frames. */
  isBinary: boolean;
  calls: readonly CallRoute[];
  /** The `anthropic_version` that bodies must have. */
  version?: string;
  /** The response to a request without a valid credential. */
  authenticate(
    call: ReceivedCall,
    acceptedKeys: readonly string[] | undefined,
  ): PlannedResponse | undefined;
}

const messagesApi: readonly CallRoute[] = [
  { path: /^\/v1\/messages$/, kind: "main" },
  { path: /^\/v1\/messages\/count_tokens$/, kind: "count_tokens" },
];

const bedrockPath = /^\/model\/([^/]+)\/invoke(-with-response-stream)?$/;
const vertexPath =
  /^\/v1\/projects\/[^/]+\/locations\/[^/]+\/publishers\/anthropic\/models\/([^/:]+):(streamRawPredict|rawPredict)$/;

export const providerProtocols: Readonly<Record<RehearsedProvider, ProviderProtocol>> = {
  bedrock: {
    dialect: "aws",
    isBinary: true,
    version: "bedrock-2023-05-31",
    calls: [
      {
        path: bedrockPath,
        kind: "main",
        read: (path) => {
          const [, model = "", stream] = bedrockPath.exec(path) ?? [];
          return { model: decodeURIComponent(model), stream: stream !== undefined };
        },
      },
      { path: /^\/inference-profiles$/, kind: "models" },
    ],
    authenticate: (call, keys) => checkAws(call, "bedrock", keys),
  },
  vertex: {
    dialect: "google",
    isBinary: false,
    version: "vertex-2023-10-16",
    calls: [
      { path: /\/models\/count-tokens:rawPredict$/, kind: "count_tokens" },
      {
        path: vertexPath,
        kind: "main",
        read: (path) => ({ model: vertexPath.exec(path)?.[1] ?? "" }),
      },
    ],
    authenticate: ({ headers }, keys) => {
      const key = readApiKey(headers);
      const isValid = key?.kind === "bearer" && (keys === undefined || keys.includes(key.value));
      return isValid ? undefined : providerError("google", "expired_token");
    },
  },
  foundry: withMessagesApi(),
  custom: withMessagesApi(),
  anthropic_aws: {
    ...withMessagesApi(),
    authenticate: (call, keys) =>
      call.headers["anthropic-workspace-id"] === undefined
        ? statusError("anthropic", 400, { message: "anthropic-workspace-id is required" })
        : checkAws(call, "aws-external-anthropic", keys),
  },
  mantle: {
    ...withMessagesApi(),
    authenticate: (call, keys) => checkAws(call, "bedrock-mantle", keys),
  },
};

function withMessagesApi(): ProviderProtocol {
  return {
    dialect: "anthropic",
    isBinary: false,
    calls: messagesApi,
    authenticate: ({ headers }, keys) => checkToken(headers, keys, "anthropic"),
  };
}

/** A SigV4 signature of the rehearsal's keys, or a key or token. */
function checkAws(
  { method, target, headers, text }: ReceivedCall,
  service: string,
  keys: readonly string[] | undefined,
): PlannedResponse | undefined {
  const isSigned = headers.authorization?.startsWith("AWS4-") ?? false;
  if (!isSigned) return checkToken(headers, keys, "aws");
  const problem = verifySigV4({ method, target, headers, body: text }, service);
  return problem && statusError("aws", 403, problem);
}

function checkToken(
  headers: IncomingHttpHeaders,
  keys: readonly string[] | undefined,
  dialect: ErrorDialect,
): PlannedResponse | undefined {
  const key = readApiKey(headers);
  if (key && (keys === undefined || keys.includes(key.value))) return undefined;
  const message = key ? "The key or token is not valid." : "The request has no key or token.";
  return dialect === "aws"
    ? statusError("aws", 403, { type: "UnrecognizedClientException", message })
    : statusError(dialect, 401, { message });
}
