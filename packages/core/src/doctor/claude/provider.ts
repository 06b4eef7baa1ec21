import type { ClientRequest, IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import type { Environment } from "@herdctl/config";
import { errorCode } from "@herdctl/protocol";
import type { ResolvedProvider } from "../../claude/provider/resolve-provider.ts";
import { providerSpecs } from "../../claude/provider/specs.ts";
import { withTimeout } from "../../lib/timeout.ts";
import { providerOptions } from "../../runner/execution/open-proxies.ts";
import { CredentialMask, secretsOf } from "../../runner/gateway/credential.ts";
import { connectUpstream, credentialProblem } from "../../runner/gateway/forward-request.ts";
import { protocolOf } from "../../runner/gateway/providers/index.ts";
import { type Finding, failed, ok, warning } from "../check.ts";

const name = "provider";
const timeoutMs = 15_000;
const maxBodyLength = 300;

/**
 * Fetches the credential of a provider and sends a message call without content. Services check the
 * credential before the content, so an answer that the content is invalid costs nothing and shows
 * that the credential is accepted.
 */
export async function checkProvider(
  provider: ResolvedProvider,
  environment: Environment,
  signal: AbortSignal,
): Promise<Finding> {
  const { label } = providerSpecs[provider.type];
  const { source } = provider.credential;
  const options = providerOptions(provider, environment);
  const { signer } = options.credential;
  try {
    await signer.prepare();
  } catch (error) {
    const { message, hint } = credentialProblem(error);
    return failed(name, `${label}: ${message}.`, hint ?? `Check ${source}.`);
  }
  const upstream = connectUpstream(options.upstream);
  try {
    return await withTimeout(signal, timeoutMs, async (limit) => {
      const body = Buffer.from("{}");
      const path =
        upstream.url.pathname.replace(/\/+$/, "") + protocolOf(provider).probePath(provider);
      const headers = {
        host: upstream.url.host,
        "content-type": "application/json",
        "content-length": String(body.length),
        "anthropic-version": "2023-06-01",
        ...options.extraHeaders,
      };
      const url = new URL(path, upstream.url.origin);
      const authorization = await signer.sign({ method: "POST", url, headers, body });
      const request = upstream.request("POST", path, { ...headers, ...authorization });
      limit.addEventListener("abort", () => request.destroy(), { once: true });
      request.end(body);
      const response = await waitForResponse(request);
      const mask = new CredentialMask(secretsOf(options.credential));
      const answer = mask.maskText((await text(response)).slice(0, maxBodyLength));
      return evaluateProviderAnswer(response.statusCode ?? 0, answer, { label, source });
    });
  } catch (error) {
    const reason = errorCode(error) ?? "no response in time";
    return failed(
      name,
      `${label} at ${upstream.url.host} cannot be reached (${reason}).`,
      "Check the network, `provider.region` and `provider.base_url`.",
    );
  } finally {
    upstream.close();
  }
}

export function evaluateProviderAnswer(
  status: number,
  answer: string,
  { label, source }: { label: string; source: string },
): Finding {
  const isModelProblem = /model/i.test(answer) && !/not authorized|signature|token/i.test(answer);
  if (status === 401 || (status === 403 && !isModelProblem))
    return failed(
      name,
      `${label} rejects the credential from ${source} (${status}: ${answer}).`,
      `Check ${source} and its permissions.`,
    );
  if (status === 400 || status === 422 || status === 404 || status === 403)
    return ok(name, `${label} accepts the credential from ${source}; the request was free.`);
  return warning(
    name,
    `${label} responds with ${status}: the credential from ${source} was not checked.`,
    "Try again later.",
  );
}

function waitForResponse(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once("response", resolve);
    request.once("error", reject);
  });
}
