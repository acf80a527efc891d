// The routes by which a producer declares the categories of its application.
import { CarillonError, type Fault, invalidField, invalidRequest } from '../basics/errors.ts'
import type { ProducerCaller } from '../http/callers.ts'
import { forProducer, type GuardedRequest } from '../http/operation.ts'
import { sendData } from '../http/response/send.ts'
import type { Texts } from '../inbox/notification-json.ts'
import type { Store } from '../store/store.ts'
import { localeFault } from '../users/profile.ts'
import { CategoryBody, CategoryResponse } from './preferences.schemas.ts'
import { maxCategories, putCategory, readCategory } from './preferences.store.ts'

type Needs = { store: Store }

export const put = forProducer({
  summary: 'Declare a category: its name and description for readers, and whether nobody can mute it',
  body: CategoryBody,
  bodyLimit: 64 * 1024,
  maxFields: 100,
  refusals: ['CONFLICT'],
  async handle({ store }: Needs, request) {
    const { name: label, description = null, mandatory } = request.body
    const details = Object.entries({ name: label, description }).flatMap(([field, texts]) =>
      languageFaults(field, texts),
    )
    if (details.length > 0) throw invalidRequest(details)
    const outcome = await store.write(putCategory, {
      ...categoryOf(request),
      label: JSON.stringify(label),
      description: description && JSON.stringify(description),
      mandatory: mandatory ? 1 : 0,
    })
    if (outcome === 'too-many')
      throw new CarillonError('CONFLICT', `An application can declare ${maxCategories} categories`)
  },
})

export const get = forProducer({
  summary: 'A category as it was declared',
  responses: { 200: CategoryResponse },
  async handle({ store }: Needs, request, reply) {
    const found = await store.read(readCategory, categoryOf(request))
    if (found === undefined) throw new CarillonError('NOT_FOUND', 'Your application has declared no such category')
    const { label, description, mandatory } = found
    return sendData(reply, {
      name: JSON.parse(label),
      description: description && JSON.parse(description),
      mandatory: mandatory === 1,
    })
  },
})

/** Throws INVALID_REQUEST for a name that no notification can have. */
function categoryOf({ caller, params }: GuardedRequest<ProducerCaller>) {
  const { category: name } = params
  if ([...name].length > 64) throw invalidField('category', 'must have at most 64 characters')
  return { application: caller.application, name }
}

function languageFaults(field: string, texts: Texts | null): Fault[] {
  if (typeof texts !== 'object' || texts === null) return []
  return Object.keys(texts).flatMap((tag) => {
    const reason = localeFault(tag)
    return reason === undefined ? [] : { field: `${field}.${tag}`, reason }
  })
}
