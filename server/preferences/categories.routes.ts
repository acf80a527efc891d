// The routes by which a producer declares the categories of its application.
import { CarillonError, invalidField, invalidRequest } from '../basics/errors.ts'
import type { ProducerCaller } from '../http/callers.ts'
import { forProducer, type GuardedRequest } from '../http/operation.ts'
import { sendData } from '../http/response/send.ts'
import type { Store } from '../store/store.ts'
import { languageFaults } from '../users/profile.ts'
import { CategoryBody, CategoryResponse } from './preferences.schemas.ts'
import { maxDeclared, putCategory, readCategory } from './preferences.store.ts'

type Needs = { store: Store }

export const put = forProducer({
  summary: 'Declare a category: its name and description for readers, and whether nobody can mute it',
  body: CategoryBody,
  bodyLimit: 64 * 1024,
  maxFields: 100,
  refusals: ['CONFLICT'],
  async handle({ store }: Needs, request) {
    const { name, description = null, mandatory } = request.body
    const faults = languageFaults({ name, description })
    if (faults.length > 0) throw invalidRequest(faults)
    const texts = { label: JSON.stringify(name), description: description && JSON.stringify(description) }
    if (!(await store.write(putCategory, { ...categoryOf(request), ...texts, mandatory: mandatory ? 1 : 0 })))
      throw new CarillonError('CONFLICT', `An application can declare ${maxDeclared} categories at most`)
  },
})

export const get = forProducer({
  summary: 'A category as it was declared',
  responses: { 200: CategoryResponse },
  refusals: ['INVALID_REQUEST'],
  async handle({ store }: Needs, request, reply) {
    const found = await store.read(readCategory, categoryOf(request))
    if (found === undefined) throw new CarillonError('NOT_FOUND', 'Your application has declared no such category')
    const [name, description] = [found.label, found.description ?? 'null'].map((text) => JSON.parse(text))
    return sendData(reply, { name, description, mandatory: found.mandatory === 1 })
  },
})

/** Throws NOT_FOUND without a name, and INVALID_REQUEST for one that no producer can declare. */
function categoryOf({ caller, params }: GuardedRequest<ProducerCaller>) {
  const { category: name } = params
  if (name === '') throw new CarillonError('NOT_FOUND', 'The path has no name of a category')
  if (name === 'security') throw invalidField('category', 'must not be security: the service itself has it')
  if ([...name].length > 64) throw invalidField('category', 'must have at most 64 characters')
  return { application: caller.application, name }
}
