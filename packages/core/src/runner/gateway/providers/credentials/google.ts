import { readFile } from "node:fs/promises";
import { errorCode, UserError } from "@herdctl/protocol";
import type { GoogleAuth } from "google-auth-library";
import { importOptional } from "./optional-packages.ts";
import type { Expiring } from "./renewable.ts";

type ClientOptions = NonNullable<
  NonNullable<ConstructorParameters<typeof GoogleAuth>[0]>["clientOptions"]
>;

const scopes = ["https://www.googleapis.com/auth/cloud-platform"];

/** Access tokens last an hour; the library tells the exact time for most kinds of credentials. */
const assumedLifetimeMs = 30 * 60_000;

/**
 * An access token for a credentials file, or without one for the identity of the machine.
 * `clientOptions` is for tests.
 */
export async function googleToken(
  file: string | undefined,
  clientOptions?: ClientOptions,
): Promise<Expiring<string>> {
  const library = await importOptional(
    "google-auth-library",
    "vertex",
    () => import("google-auth-library"),
  );
  try {
    const client = await createClient();
    const { token } = await client.getAccessToken();
    if (!token) throw new Error("the response contains no token");
    const expiresAt = client.credentials.expiry_date ?? Date.now() + assumedLifetimeMs;
    return { value: token, expiresAt };
  } catch (error) {
    throw new UserError("credential_unavailable", `no Google access token: ${reasonOf(error)}`, {
      hint: "Run `gcloud auth application-default login` again, or check the key file.",
      cause: error,
    });
  }

  async function createClient() {
    if (file === undefined) return new library.Compute({ scopes });
    const json = JSON.parse(await readFile(file, "utf8"));
    if (json.type === "service_account") {
      const client = new library.JWT({ ...clientOptions, scopes });
      client.fromJSON(json);
      return client;
    }
    if (json.type === "authorized_user") {
      const client = new library.UserRefreshClient(clientOptions);
      client.fromJSON(json);
      return client;
    }
    // Identities of other services; the library knows their types.
    return await new library.GoogleAuth({ credentials: json, scopes, clientOptions }).getClient();
  }
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return `${errorCode(error) ?? ""} ${text}`.trim().split("\n")[0]?.slice(0, 200) ?? "";
}
