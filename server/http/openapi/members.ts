// Members that objects of several rooms have, and the members of a list in pages.
import * as t from './schema.ts'

export const uuid = (notes: t.Notes = {}) =>
  t.example(t.string({ format: 'uuid', ...t.keywords(notes) }), '019a9b3e-5c1f-7a42-9d0b-3f6f1c2e8a70')
export const id = uuid('UUIDv7')
export const timeOf = (description: string) =>
  t.example(t.string({ format: 'date-time', description }), '2026-11-02T09:14:05.120Z')
export const time = timeOf('ISO 8601 UTC with milliseconds')
export const expiresAt = t.example(time, '2026-12-02T09:14:05.120Z')

/** What the next request sends as `field`, or null on the last page. */
export const nextAs = (field: string) =>
  t.example(t.nullable(t.string(`Send it as \`${field}\` for the page that follows`)), null)
export const pageOf = <S extends t.Schema>(name: string, item: S, notes: t.Notes = {}) =>
  t.component(name, { items: t.array(item, notes), next: nextAs('after') })
export const limit = (maximum: number, initial: number) =>
  t.optional(t.integer({ minimum: 1, maximum, default: initial }))
/** The query of a list in pages. */
export const cursor = { after: t.optional(t.text(0, 64, '`next` of an earlier page')), limit: limit(100, 20) }
