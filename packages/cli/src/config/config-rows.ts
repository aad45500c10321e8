import {
  type Config,
  type ConfigRow,
  chooseModel,
  natsRows,
  type Provider,
  type SettingMap,
  withoutPassword,
} from "troupe/internal";

/** Everything that holds in a folder, by the keys that a file would have it under. */
export function configRows(config: Config): ConfigRow[] {
  return [
    modelRow(config),
    ...mapRows("models", config.models),
    ...mapRows("aliases", config.aliases),
    ...mapRows("roles", config.roles),
    ...mapRows("fallbacks", config.fallbacks),
    ...config.providers.filter(({ isImplied }) => !isImplied).flatMap(providerRows),
    ...natsRows(config.nats),
  ];
}

/** The model that answers, whether it is named or a default; null where none could. */
function modelRow(config: Config): ConfigRow {
  if (config.model) return { key: "model", ...config.model };
  try {
    const { id, origin } = chooseModel(config);
    return { key: "model", value: id, origin };
  } catch {
    return { key: "model", value: null, origin: { from: "default", where: "none is named" } };
  }
}

function mapRows(section: string, map: SettingMap): ConfigRow[] {
  return Object.entries(map).map(([name, said]) => ({ key: `${section}.${name}`, ...said }));
}

function providerRows({ settings, preset, origin, keyFrom }: Provider): ConfigRow[] {
  const { id, wire, baseUrl, headers, limits, models, keyVariable } = settings;
  const key: ConfigRow = keyFrom
    ? { key: "key", value: `set (${keyFrom})`, origin: { from: "environment", where: keyFrom } }
    : { key: "key", value: keyVariable ? `not set (${keyVariable})` : "none", origin };
  const rows: ConfigRow[] = [
    ...(preset === null || preset === id ? [] : [{ key: "preset", value: preset, origin }]),
    { key: "wire", value: wire, origin },
    { key: "baseUrl", value: baseUrl === null ? "the vendor's own" : withoutPassword(baseUrl), origin },
    key,
    // What a header holds may be for its server alone.
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
