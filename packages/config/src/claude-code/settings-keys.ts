import { type CoverageTable, coverage, exposed, owned, unattended } from "./coverage.ts";

/** Every key of Claude Code's settings. All that are useful unattended can be set in `settings`. */
export const settingsKeys: CoverageTable = {
  ...coverage(
    [exposed("claude_hooks"), ["hooks"]],
    [exposed("sandbox"), ["sandbox"]],
    [exposed("file_checkpointing"), ["fileCheckpointingEnabled"]],
    [exposed("env"), ["env"]],
    [exposed("model"), ["model"]],
    [exposed("fallback_model"), ["fallbackModel"]],
    [exposed("effort"), ["effortLevel"]],
    [exposed("main_agent"), ["agent"]],
    [exposed("autocompact"), ["autoCompactWindow"]],
    [exposed("fast_mode"), ["fastMode"]],
  ),
  ...coverage(
    [
      exposed("settings"),
      [
        ...["apiKeyHelper", "proxyAuthHelper", "awsCredentialExport", "awsAuthRefresh"],
        ...["gcpAuthRefresh", "otelHeadersHelper", "policyHelper", "processWrapper"],
        ...["attribution", "attributionProject", "attributionProjectPolicy"],
        ...["includeCoAuthoredBy", "includeGitInstructions", "permissions", "respectGitignore"],
        ...["availableModels", "enforceAvailableModels", "availableModelsMatch", "deniedModels"],
        ...["modelOverrides", "modelPricing", "modelSettings", "maxEffortLevel", "ultracode"],
        ...["skillListingMaxDescChars", "skillListingBudgetFraction", "skillOverrides"],
        ...["disableBundledSkills", "disableAllHooks", "disableWorkflows", "enableWorkflows"],
        ...["workflowSizeGuideline", "workflowKeywordTriggerEnabled", "disableArtifact"],
        ...["enableArtifact", "disableSkillShellExecution", "disableWindowsBashCommandSplit"],
        ...["defaultShell", "bashEditDiffEnabled", "bashOutputMaxChars", "taskOutputMaxChars"],
        ...["respondToBashCommands", "allowedHttpHookUrls", "httpHookAllowedEnvVars"],
        ...["enabledPlugins", "prependPlugins", "appendPlugins", "extraKnownMarketplaces"],
        ...["additionalMarketplaces", "pluginConfigs", "disableCommandPluginSources"],
        ...["outputStyle", "language", "skipWebFetchPreflight", "promptCacheTtl"],
        ...["subagentPromptCacheTtl", "alwaysThinkingEnabled", "showThinkingSummaries"],
        ...["advisorModel", "plansDirectory", "autoMemoryEnabled", "autoMemoryDirectory"],
        ...["autoDreamEnabled", "disableAutoMode", "useAutoModeDuringPlan", "autoMode"],
        ...["claudeMd", "claudeMdExcludes", "autoCompactEnabled", "precomputeCompactionEnabled"],
        ...["idleCompaction", "switchModelsOnFlag", "todoFeatureEnabled", "worktree"],
        ...["disableReplyCheck", "timeZone", "gatewayInternalNetworks"],
      ],
    ],
    [
      exposed("policy"),
      [
        ...["allowManagedHooksOnly", "allowManagedPermissionRulesOnly"],
        ...["allowManagedMcpServersOnly", "allowAllClaudeAiMcps", "strictPluginOnlyCustomization"],
        ...["allowClaudeInChromeWithManagedMcp", "strictKnownMarketplaces", "allowedMarketplaces"],
        ...["blockedMarketplaces", "disableSideloadFlags", "managedMcpServers"],
        ...["allowedMcpServers", "deniedMcpServers", "parentSettingsBehavior", "allowedProviders"],
        ...["managedSourcesBehavior", "forceLoginMethod", "forceLoginGatewayUrl"],
        ...["forceLoginOrgUUID", "forceRemoteSettingsRefresh", "requiredMinimumVersion"],
        ...["requiredMaximumVersion", "minimumVersion", "allowedChannelPlugins"],
      ],
    ],
  ),
  ...coverage(
    [
      owned("herdctl keeps transcripts, so that runs can be resumed"),
      ["cleanupPeriodDays", "desktopSessionCleanupPeriodDays", "autoUploadSessions"],
    ],
    [
      owned("an agent has only the servers of `mcp_servers`"),
      ["enableAllProjectMcpServers", "enabledMcpjsonServers", "disabledMcpjsonServers"],
    ],
    [owned("an agent has only the servers of `mcp_servers`"), ["disableClaudeAiConnectors"]],
    [owned("it names the schema for editors"), ["$schema"]],
    [owned("herdctl waits for limits itself"), ["autoContinueAtUsageLimit"]],
    [owned("herdctl asks people itself"), ["askUserQuestionTimeout", "dialogExpiry"]],
  ),
  ...coverage(
    [
      unattended("look and behavior of the terminal"),
      [
        ...["fileSuggestion", "modelPicker", "statusLine", "prUrlTemplate", "footerLinksRegexes"],
        ...[
          "subagentStatusLine",
          "viewMode",
          "spinnerTipsEnabled",
          "spinnerVerbs",
          "maxProseWidth",
        ],
        ...["spinnerTipsOverride", "syntaxHighlightingDisabled", "spellcheck", "theme", "tui"],
        ...["terminalTitleFromRename", "emojiCompletionEnabled", "showClearContextOnPlanAccept"],
        ...["prefersReducedMotion", "timeFormat", "editorMode", "keybindingFlavor", "verbose"],
        ...["vimInsertModeRemaps", "autoScrollEnabled", "wheelScrollAccelerationEnabled"],
        ...["showTurnDuration", "showMessageTimestamps", "terminalProgressBarEnabled"],
        ...["defaultView", "promptSuggestionEnabled", "pluginTrustMessage"],
        ...["pluginSuggestionMarketplaces", "companyAnnouncements"],
      ],
    ],
    [
      unattended("for a person at the terminal"),
      [
        ...[
          "feedbackSurveyRate",
          "feedbackDrafts",
          "voice",
          "voiceEnabled",
          "preferredNotifChannel",
        ],
        ...[
          "inputNeededNotifEnabled",
          "agentPushNotifEnabled",
          "skipDangerousModePermissionPrompt",
        ],
        ...["skipAutoPermissionPrompt", "fastModePerSessionOptIn", "disableDeepLinkRegistration"],
        ...["disableAgentView", "autoUpdatesChannel", "wslInheritsWindowsSettings"],
      ],
    ],
    [
      unattended("sessions of other devices or of claude.ai"),
      [
        ...["syncClaudeAiSkills", "syncClaudeAiPlugins", "disableRemoteControl", "remote"],
        ...["channelsEnabled", "sshConfigs", "sshHostCommands", "teammateMode", "daemonColdStart"],
        ...["remoteControlAtStartup", "isolatePeerMachines", "crossSessionInbound"],
      ],
    ],
  ),
};
