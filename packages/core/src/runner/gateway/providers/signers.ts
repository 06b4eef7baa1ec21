import type { Environment } from "@herdctl/config";
import type { AwsKeys, ProviderCredential } from "../../../claude/provider/credential-sources.ts";
import type { OutgoingCall, RequestSigner } from "./contract.ts";
import { awsKeys } from "./credentials/aws.ts";
import { tokenFromCommand } from "./credentials/command.ts";
import { googleToken } from "./credentials/google.ts";
import { importOptional } from "./credentials/optional-packages.ts";
import { type Expiring, RenewableCredential } from "./credentials/renewable.ts";

/** The signer for a credential. Libraries are loaded when they are first needed. */
export function createSigner(
  credential: ProviderCredential,
  environment: Environment,
): RequestSigner {
  if (credential.kind === "aws") {
    const { keys, region, service } = credential;
    return new AwsSigner(
      () => awsKeys(keys, region, environment),
      { region, service },
      keys.from !== "variables",
    );
  }
  if (credential.kind === "google")
    return new TokenSigner(() => googleToken(credential.file), "bearer", true);
  if (credential.kind === "command")
    return new TokenSigner(
      () => tokenFromCommand(credential.command, environment),
      credential.scheme,
      true,
    );
  const { value, scheme } = credential;
  return new TokenSigner(async () => ({ value }), scheme, false);
}

class TokenSigner implements RequestSigner {
  private readonly token: RenewableCredential<string>;

  constructor(
    fetch: () => Promise<Expiring<string>>,
    private readonly scheme: "bearer" | "api_key",
    private readonly isRenewable: boolean,
  ) {
    this.token = new RenewableCredential(fetch);
  }

  async prepare(): Promise<void> {
    await this.token.get();
  }

  async sign(): Promise<Record<string, string>> {
    const token = await this.token.get();
    return this.scheme === "api_key"
      ? { "x-api-key": token }
      : { authorization: `Bearer ${token}` };
  }

  renew(): boolean {
    if (this.isRenewable) this.token.drop();
    return this.isRenewable;
  }

  secrets(): readonly string[] {
    const { current } = this.token;
    return current === undefined ? [] : [current];
  }
}

/** Signs each request with SigV4; the secret key itself is never sent. */
class AwsSigner implements RequestSigner {
  private readonly keys: RenewableCredential<AwsKeys>;

  constructor(
    fetch: () => Promise<Expiring<AwsKeys>>,
    private readonly scope: { region: string; service: string },
    private readonly isRenewable: boolean,
  ) {
    this.keys = new RenewableCredential(fetch);
  }

  async prepare(): Promise<void> {
    await Promise.all([this.keys.get(), loadSigner()]);
  }

  async sign({ method, url, headers, body }: OutgoingCall): Promise<Record<string, string>> {
    const { SignatureV4, Sha256 } = await loadSigner();
    const signer = new SignatureV4({
      ...this.scope,
      credentials: await this.keys.get(),
      sha256: Sha256,
    });
    const { host } = url;
    const signed = await signer.sign({
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      // Headers that a proxy may change are not signed.
      headers: { host, "content-type": headers["content-type"] ?? "application/json" },
      body,
    });
    return Object.fromEntries(Object.entries(signed.headers).filter(([name]) => name !== "host"));
  }

  renew(): boolean {
    if (this.isRenewable) this.keys.drop();
    return this.isRenewable;
  }

  secrets(): readonly string[] {
    const { secretAccessKey, sessionToken } = this.keys.current ?? {};
    return [secretAccessKey, sessionToken].filter((secret) => secret !== undefined);
  }
}

async function loadSigner() {
  const [{ SignatureV4 }, { Sha256 }] = await Promise.all([
    importOptional("@smithy/signature-v4", "aws", () => import("@smithy/signature-v4")),
    importOptional("@aws-crypto/sha256-js", "aws", () => import("@aws-crypto/sha256-js")),
  ]);
  return { SignatureV4, Sha256 };
}
