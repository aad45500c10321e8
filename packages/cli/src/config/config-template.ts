import { leaseMsDefault } from "@troupe/core/internal";

/** A configuration in which nothing is said yet, and everything that could be is explained. */
export const configTemplate = `# Configuration of troupe. Every setting is optional; what is said here holds for you, on this machine.
#
# Stronger than this file: flags, then variables, then .troupe/config.yaml of the folder that is worked in, which may
# say model, models, aliases and roles alone. What holds, and who says so: troupe config list --show-origin
#
# Keys never stand here. They are read from variables: ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENROUTER_API_KEY,
# DEEPSEEK_API_KEY, or whichever one a provider below names.

# The model of sessions that name none: provider/model, an alias, or a name of the map below.
# Without it, the middle one of the first provider whose key is set. TROUPE_MODEL and --model are stronger.
# model: anthropic/claude-sonnet-5

# Other names for models. An id without a configured provider as its first part is looked up here.
# models:
#   deepseek-chat: openrouter/deepseek/deepseek-chat
#   qwen/qwen3-coder-30b: ollama/qwen3-coder:30b

# What names of sizes in agent files mean. Without it, they are sizes of the session's own provider; with a local
# one they are the session's model.
# aliases:
#   opus: anthropic/claude-opus-5-5
#   sonnet: anthropic/claude-sonnet-5
#   haiku: openai/gpt-6-luna

# The model of one agent, whatever its file says. \`inherit\` is the model of its parent.
# roles:
#   coder: anthropic/claude-opus-5-5
#   researcher: haiku

# Who is asked where a model cannot be reached.
# fallbacks:
#   anthropic/claude-sonnet-5: openai/gpt-6-sol

# Where models are. Those that are known by name need nothing but their key: anthropic, openai, openrouter, deepseek,
# and, without any key, ollama, lmstudio and vllm on this machine.
# providers:
#   house:                                  # what its models' ids begin with: house/qwen3
#     preset: vllm                          # like one that is known; else say wire
#     wire: openai-chat                     # anthropic, openai-chat or openai-responses
#     baseUrl: http://gpu.local:8000/v1
#     keyVariable: HOUSE_API_KEY            # the name of the variable that holds its key
#     headers: {X-Team: research}           # sent with every request
#     limits:                               # of all agents together
#       concurrency: 4                      # requests at the same time
#       requestsPerMinute: 60
#       tokensPerMinute: 100000
#       idleTimeoutMs: 75000                # silence after which a request is given up
#     models:
#       qwen3:
#         price: {inputPerMillion: 0, outputPerMillion: 0}   # US dollars; unknown is not nothing
#         contextTokens: 32768

# Where the others are: daemons and workers that share their sessions over NATS with JetStream. Stronger: --nats,
# --context, NATS_URL. Without any of these everything happens in one process. Credentials are read from files, or from
# NATS_CREDS, NATS_NKEY, NATS_TOKEN, NATS_USER and NATS_PASSWORD, NATS_CA, NATS_CERT, NATS_KEY.
# nats:
#   servers: [nats://a:4222, nats://b:4222] # or one address
#   context: team                           # or a context of the NATS command line
#   namespace: troupe                       # keeps several troupes on one server apart
#   creds: ~/team.creds                     # or nkey: a file with a seed, or user: a name
#   ca: ~/ca.pem                            # who has signed the server's certificate; cert and key: your own
#   tlsFirst: false                         # encrypted from the first byte on
#   inboxPrefix: _INBOX                     # where this user may hear replies
#   replicas: 3                             # copies of the streams, where they are created
#   journalBytesMax: 10000000000            # and their sizes: taskBytesMax, blobBytesMax
#   leaseMs: ${leaseMsDefault}                           # how long a task stays with a host that has died
#   keepDays: 7                             # that settled sessions stay on the server once recorded; 0: for ever
#   place: disk-1                           # the disk that workspaces are on, where several machines share it
`;
