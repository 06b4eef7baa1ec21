/** The token of an `Authorization: Bearer` header; undefined for any other scheme. */
export function parseBearerToken(authorization: string): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
}
