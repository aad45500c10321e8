import {
  type Config,
  type ConfigRow,
  chooseModel,
  natsRows,
  officeRows,
  type Provider,
  type SettingMap,
  withoutPassword,
} from "troupe/internal";

/** The settings that apply in a folder, with the keys of the configuration file. */
export function configRows(config: Config): ConfigRow[] {
  return [
    modelRow(config),
    ...(config.team ? [{ key: "team", ...config.team }] : []),
    ...mapRows("models", config.models),
    ...mapRows("aliases", config.aliases),
    ...mapRows("roles", config.roles),
    ...mapRows("fallbacks", config.fallbacks),
    ...config.providers.filter(({ isImplied }) => !isImplied).flatMap(providerRows),
    ...natsRows(config.nats),
    ...(config.listTokens ? [{ key: "delegation.listTokens", ...config.listTokens }] : []),
    ...(config.retention.maxAgeMs ? [{ key: "retention.maxAge", ...config.retention.maxAgeMs }] : []),
    ...(config.retention.maxBytes ? [{ key: "retention.maxBytes", ...config.retention.maxBytes }] : []),
    ...config.webhooks.map(({ value: { url }, origin }, i) => ({ key: `webhooks.${i}`, value: url, origin })),
    ...(config.hints ? [{ key: "delegation.hints", ...config.hints }] : []),
    ...officeRows(config.office),
  ];
}

/** The configured or default model; null if no model can answer. */
function modelRow(config: Config): ConfigRow {
  if (config.model) return { key: "model", ...config.model };
  try {
    const { id, origin } = chooseModel(config);
    return { key: "model", value: id, origin };
  } catch {
    return { key: "model", value: null, origin: { from: "default", where: "no model is configured" } };
  }
}

function mapRows(section: string, map: SettingMap): ConfigRow[] {
  return Object.entries(map).map(([name, setting]) => ({ key: `${section}.${name}`, ...setting }));
}

function providerRows({ settings, preset, origin, keyFrom }: Provider): ConfigRow[] {
  const { id, wire, baseUrl, headers, limits, models, keyVariable } = settings;
  const key: ConfigRow = keyFrom
    ? { key: "key", value: `set (${keyFrom})`, origin: { from: "environment", where: keyFrom } }
    : { key: "key", value: keyVariable ? `not set (${keyVariable})` : "none", origin };
  const rows: ConfigRow[] = [
    ...(preset === null || preset === id ? [] : [{ key: "preset", value: preset, origin }]),
    { key: "wire", value: wire, origin },
    { key: "baseUrl", value: baseUrl === null ? "the vendor's address" : withoutPassword(baseUrl), origin },
    key,
    // A header can hold a secret of its server.
    ...Object.keys(headers).map((name) => ({ key: `headers.${name}`, value: "set", origin })),
    ...Object.entries(limits).map(([name, value]) => ({ key: `limits.${name}`, value, origin })),
    ...Object.entries(models).flatMap(([name, { price, contextTokens }]) => [
      ...Object.entries(price ?? {}).map(([what, usd]) => ({
        key: `models.${name}.price.${what}`,
        value: usd,
        origin,
      })),
      ...(contextTokens === undefined ? [] : [{ key: `models.${name}.contextTokens`, value: contextTokens, origin }]),
    ]),
  ];
  return rows.map((row) => ({ ...row, key: `providers.${id}.${row.key}` }));
}
