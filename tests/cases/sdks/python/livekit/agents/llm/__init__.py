from .chat_context import ChatItem, ChatMessage, ChatRole, FunctionCall
