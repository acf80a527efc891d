// The inbox as a Svelte store: `$inbox` in a component is the newest snapshot. The list is open while a component uses it.
import { createCarillon } from 'carillon-client'
import { readable } from 'svelte/store'

export const carillon = createCarillon({ baseUrl: '/bell/' })
export const list = carillon.inbox.open()
export const inbox = readable(list.getSnapshot(), (set) => list.subscribe(set))
