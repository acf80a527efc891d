// Do the dashboard and the alerts name metrics that exist, and does docs/operations/metrics.md explain every alert and every metric?
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import { RequestCounts } from '../../server/http/response/request-counts.ts'
import { familiesOf } from '../../server/metrics/families.ts'
import { stubStore } from '../../server/store/testing/operations.ts'

type Rule = {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { summary: string }
}

const rules: Rule[] = parse(readFileSync('packaging/alerts.yaml', 'utf8')).groups.flatMap(
  ({ rules: ofGroup }: { rules: Rule[] }) => ofGroup,
)
const dashboard: { panels: { title: string; targets: { expr: string }[] }[] } = JSON.parse(
  readFileSync('packaging/grafana.json', 'utf8'),
)
const page = readFileSync('docs/operations/metrics.md', 'utf8')
const families = familiesOf({
  store: stubStore(),
  requests: new RequestCounts(),
  drift: { checked: 0, found: 0 },
  now: () => 0,
  hashesWaiting: () => 0,
  streamsOpen: () => 0,
  signingSince: () => 0,
})
const names = families.flatMap(({ name, type }) =>
  type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
)

/** The metrics of Carillon that an expression names. */
function metricsIn(expression: string): string[] {
  return expression.match(/\bcarillon_\w+/g) ?? []
}

test('every alert and every panel reads metrics that exist', () => {
  const expressions = [
    ...rules.map(({ expr }) => expr),
    ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ]
  assert.ok(rules.length > 10 && dashboard.panels.length > 15)
  assert.deepEqual(
    [...new Set(expressions.flatMap(metricsIn))].filter((name) => !names.includes(name)),
    [],
  )
})

test('docs/operations/metrics.md says what to do at each alert, and names every metric', () => {
  for (const { alert, labels, annotations } of rules) {
    assert.match(page, new RegExp(`^\\| ${alert} \\| \\S.* \\| \\S.* \\|$`, 'm'))
    assert.match(labels.severity, /^(critical|warning)$/)
    assert.ok(annotations.summary.length > 10)
  }
  const explained = [...page.matchAll(/^\| (Carillon\w+) \|/gm)].map(([, alert]) => alert)
  assert.deepEqual(
    explained,
    rules.map(({ alert }) => alert),
    'the page and packaging/alerts.yaml, in the same order',
  )
  const short = families
    .map(({ name }) => name.replace('carillon_', ''))
    .filter((name) => name !== 'info')
  assert.deepEqual(
    short.filter((name) => !page.includes(`\`${name}\``)),
    [],
  )
})

test('the name of a metric says its unit, and a counter ends with _total', () => {
  for (const { name, help, type } of families) {
    assert.match(name, /^carillon_[a-z_]+$/)
    assert.match(help, /^[A-Z].*[.]$/)
    assert.equal(name.endsWith('_total'), type === 'counter', name)
  }
})
