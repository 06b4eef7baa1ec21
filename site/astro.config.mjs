import { existsSync } from "node:fs";
import starlight from "@astrojs/starlight";
import { defineConfig, passthroughImageService } from "astro/config";
import { shortTitles, sidebar, slugOf } from "./sidebar.mjs";

const isThere = (page) => existsSync(new URL(`../${page}`, import.meta.url));

export default defineConfig({
  devToolbar: { enabled: false },
  // Copies pictures unchanged.
  image: { service: passthroughImageService() },
  integrations: [
    starlight({
      title: "herdctl",
      description:
        "Run Claude Code agents unattended, with a record of how each job ended and what it cost.",
      logo: { src: "../packages/dashboard/public/icon.svg" },
      favicon: "/favicon.svg",
      customCss: ["./src/styles/site.css"],
      credits: false,
      tableOfContents: { minHeadingLevel: 2, maxHeadingLevel: 3 },
      expressiveCode: {
        themes: ["github-dark", "github-light"],
        useStarlightUiThemeColors: true,
        styleOverrides: { borderRadius: "0.5rem", codeFontFamily: "var(--sl-font-mono)" },
      },
      sidebar: sidebar.map(({ label, pages }) => ({
        label,
        collapsed: ["Decisions", "Proof"].includes(label),
        items: pages
          .filter(isThere)
          .map((page) => ({ slug: slugOf(page), label: shortTitles[page] })),
      })),
    }),
  ],
});
