// Before the head there may be comments.
/* Also of this kind. */
export const meta = {
  name: 'survey',
  description: 'Looks at parts through lenses, refutes what was found, repairs it, sums it up',
  // A comment in the head; a joined string would be refused.
  whenToUse: "Before a merge: it's the slow one.",
  phases: [
    { title: 'Scope', detail: `what there is` },
    { title: 'Find' },
    { title: 'Verify' }, { title: 'Repair' }, { title: 'Report' },
  ],
}

const a = args || {}
const BASE = a.base ?? 'main'

class Tally {
  #counts = new Map()
  add(key, by = 1) { this.#counts.set(key, (this.#counts.get(key) ?? 0) + by); return this }
  get all() { return Object.fromEntries([...this.#counts].sort(([x], [y]) => x.localeCompare(y))) }
}

const FINDINGS = Object.freeze({
  type: 'object',
  properties: {
    findings: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          title: { type: 'string', maxLength: 90, description: 'in ' + 'one line' },
          severity: { type: 'string', enum: ['blocker', 'minor'] },
          lines: { type: 'array', items: { type: 'number' } },
        },
        required: ['title', 'severity'],
      },
    },
  },
  required: ['findings'],
})
const VERDICT = {
  type: 'object',
  properties: { isReal: { type: 'boolean' }, reason: { type: 'string' } },
  required: ['isReal'],
}

const CONTEXT = `
The base is ${BASE}. Run \`git diff ${BASE}...HEAD\` first.
House rules: cite file:line; an empty list is a real answer.
`

function hasLoader(name) {
  if (typeof require === 'function') return require(name)
  return ['loadModule', 'dynamicImport'].some((each) => typeof globalThis[each] === 'function')
}

async function tried(label, work) {
  try {
    return { label, value: await work() }
  } catch (error) {
    log(`${label}: ${error?.message ?? String(error)}`)
    return { label, value: null }
  } finally {
    tally.add('tried')
  }
}

const tally = new Tally()
const specs = (typeof a.parts === 'string' ? a.parts : (a.parts && a.parts.join ? a.parts.join('\n') : ''))
  .trim()
  .split(/\n|\s\|\s/)
  .map((s) => s.trim())
  .filter(Boolean)
  .map((s, i) => {
    const m = s.match(/^([a-z0-9-]+)::\s*(.+)$/i)
    return { index: i + 1, agentType: m ? m[1] : null, task: m ? m[2] : s }
  })

phase('Scope')
if (specs.length === 0) {
  log('No parts.')
  return { error: 'no parts', hint: 'first | kind:: second' }
}
const scope = await agent('List what there is.\nNo comment.', { label: 'scope', effort: 'low' })

phase('Find')
const found = await pipeline(
  specs,
  (spec) => agent(`${CONTEXT}\nFind faults in ${spec.task}.`, { label: `find:${spec.index}`, phase: 'Find', schema: FINDINGS }),
  (result, spec, n) =>
    parallel(
      (result.findings || []).filter((f) => f.severity !== 'minor').map((f) => () =>
        agent(`Try to refute: ${JSON.stringify(f)} of part ${n}.`, { label: `verify:${spec.index}`, phase: 'Verify', schema: VERDICT })
          .then((verdict) => ({ ...f, part: spec.task, verdict })))
    ).then((verified) => ({ spec, verified }))
)

const real = []
const seen = new Set()
for (const { spec, verified } of found.filter(Boolean)) {
  for (const [at, each] of verified.entries()) {
    if (!each?.verdict?.isReal || seen.has(`${each.part}/${at}`)) continue
    seen.add(`${each.part}/${at}`)
    real.push({ ...each, agentType: spec.agentType })
  }
}
switch (real.length) {
  case 0: log('nothing to repair'); break
  default: log(`repairing ${real.length}`, { of: specs.length })
}

phase('Repair')
const repaired = await parallel(real.map((each) => async () => {
  const { part, agentType, ...rest } = each
  return await agent(`Repair in a worktree of its own: ${part}.`, {
    label: `repair:${part}`,
    phase: 'Repair',
    isolation: 'worktree',
    ...(agentType ? { agentType } : {}),
  })
}))
tally.add('repaired', repaired.filter((each) => each !== null).length)

const nested = await tried('echo', () => workflow('echo', { token: BASE }))
const missing = await tried('missing', () => workflow('no-such-workflow'))
const unknown = await agent('Whose kind nobody knows.', { agentType: 'no-such-kind' })

phase('Report')
let attempt = 0, summary = null
do {
  summary = await agent([
    '## Task',
    'Sum up what was found.',
    `${real.length} are real: ` + real.map((r) => r.part).join(', '),
  ].join('\n'), { label: 'report' })
  attempt += 1
} while (summary === null && attempt < 2)

return {
  scope,
  summary,
  nested: nested.value?.echo ?? null,
  missing: missing.value,
  unknown,
  loader: hasLoader('node:fs'),
  today: new Date(Date.UTC(2026, 0, 2)).toISOString().replace(/T.*$/, ''),
  tally: tally.all,
  left: Number.isFinite(budget.remaining()) ? budget.remaining() : 'no limit',
}
