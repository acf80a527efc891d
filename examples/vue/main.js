// Starts the page.
import 'carillon-inbox'
import { createApp } from 'vue'
import App from './app.vue'

createApp(App).mount('#root')
