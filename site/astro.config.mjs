import { existsSync } from "node:fs";
import starlight from "@astrojs/starlight";
import { defineConfig, passthroughImageService } from "astro/config";
import { shortTitles, sidebar, slugOf } from "./sidebar.mjs";

const isThere = (page) => existsSync(new URL(`../${page}`, import.meta.url));

export default defineConfig({
  devToolbar: { enabled: false },
  // Pictures are taken as they are.
  image: { service: passthroughImageService() },
  integrations: [
    starlight({
      title: "herdctl",
      description: "Runs Claude Code agents unattended, and says truly how each run went.",
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
        collapsed: ["Internals", "Proof"].includes(label),
        items: pages
          .filter(isThere)
          .map((page) => ({ slug: slugOf(page), label: shortTitles[page] })),
      })),
    }),
  ],
});
