const debian = [
  "deb.debian.org",
  "security.debian.org",
  "ftp.debian.org",
  "cdn-fastly.deb.debian.org",
  "cdn-aws.deb.debian.org",
];

/** The hosts of a package source. Port 443 unless another is named. */
export const presets: Readonly<Record<string, readonly string[]>> = {
  npm: ["registry.npmjs.org", "registry.yarnpkg.com"],
  github: [
    "github.com",
    "api.github.com",
    "codeload.github.com",
    "raw.githubusercontent.com",
    "objects.githubusercontent.com",
    "release-assets.githubusercontent.com",
    "media.githubusercontent.com",
    "github-cloud.githubusercontent.com",
  ],
  pypi: ["pypi.org", "files.pythonhosted.org"],
  // apt fetches over plain HTTP and checks signatures.
  debian: [...debian, ...debian.map((host) => `${host}:80`)],
};
