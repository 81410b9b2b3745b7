export const meta = { name: 'echo', description: 'Returns its token; called by another workflow', phases: [{ title: 'Echo' }] }

phase('Echo')
const token = (args && typeof args === 'object') ? (args.token ?? null) : (args ?? null)
log(`echo: ${JSON.stringify(token)}`)
return { echo: token }
