// The inbox as a Vue composable: the snapshot of the shared store, in a ref.
import { createCarillon } from 'carillon-client'
import { onScopeDispose, shallowRef } from 'vue'

export const carillon = createCarillon({ baseUrl: '/bell/' })

export function useInbox(options) {
  const list = carillon.inbox.open(options)
  const inbox = shallowRef(list.getSnapshot())
  list.subscribe((snapshot) => {
    inbox.value = snapshot
  })
  onScopeDispose(() => list.close())
  return { inbox, list }
}
